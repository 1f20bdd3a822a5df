//! Facts that have nothing to do with each other, in languages whose verbs nobody knows here: none updates another one.

use rstest::rstest;

use super::*;

const SPANISH: &str = "\
    Nuestro proveedor principal es Acme.\n\
    Ana revisa las facturas.\n\
    Los sábados cerramos a las dos.\n\
    En verano trabajamos menos.\n\
    Las actas se guardan en Notion.\n\
    El acceso remoto requiere una llave.\n\
    Muchos clientes piden factura electrónica.\n\
    Hay tres salas libres.\n\
    Usamos tabuladores en el código.\n\
    Pagamos el alquiler en enero.\n\
    Cada rama necesita dos aprobaciones.\n\
    La versión mínima es la 12.\n\
    Los datos personales se borran tras un año.\n\
    El servidor de pruebas no tiene copia.\n\
    Luis y Eva comparten despacho.\n\
    El registro de errores crece rápido.\n\
    El equipo habla inglés.\n\
    El servidor está en Madrid.\n\
    El cliente paga en euros.\n\
    La oficina abre a las nueve.\n\
    El panel usa Vue 3.\n\
    La base de datos es MySQL.\n\
    El proyecto depende de Redis.\n\
    La jefa se llama Carmen.\n\
    El informe sale cada lunes.\n\
    La impresora está en Sevilla.\n\
    El coche es de Pedro.\n\
    La reunión dura una hora.\n\
    El almacén está en Bilbao.\n\
    El jefe vive en Toledo.\n\
    El gato duerme en Granada.\n\
    El camión llega a Murcia.\n\
    El contrato vence en marzo.\n\
    La factura se envía por correo.\n\
    Las copias se guardan en Azure.\n\
    El despliegue tarda diez minutos.\n\
    La contraseña tiene doce letras.\n\
    El becario viene de Lugo.\n\
    La tienda vende pan.\n\
    La tienda cierra a las ocho.\n\
    El equipo usa Slack.\n\
    El equipo tiene seis personas.\n\
    El servidor ejecuta Debian.\n\
    El cliente prefiere el teléfono.\n\
    La directora trabaja desde casa.\n\
    Los pedidos se pagan por adelantado.\n\
    Los errores llegan a Sentry.\n\
    Nuestra empresa nació en Cádiz.\n\
    El puerto de la pasarela es 8443.\n\
    El dominio caduca en junio.\n\
    La cámara graba en color.\n\
    El sensor mide la humedad.\n\
    La lista contiene veinte nombres.\n\
    El taller empieza el jueves.\n\
    El café cuesta dos euros.\n\
    El perro come arroz.\n\
    La abogada revisa los contratos.\n\
    El código está en GitLab.\n\
    Las pruebas corren en Jenkins.\n\
    El diseño viene de Figma.\n\
    El pintor alquila un estudio.\n\
    El ascensor sube hasta el quinto piso.\n\
    La piscina mide veinte metros.\n\
    El tren sale de Atocha.\n\
    La panadera se casó en mayo.\n\
    El manual está escrito en inglés.\n\
    El alcalde firma los permisos.\n\
    La biblioteca presta libros.\n\
    El vecino toca el violín.\n\
    La aplicación necesita Java 17.\n\
    El módulo valida las direcciones.\n\
    La caché expira en cinco minutos.\n\
    El volcado ocupa 40 GB.\n\
    La alarma suena a medianoche.\n\
    El hotel acepta perros.\n\
    La granja produce queso.\n\
    El museo abre los domingos.\n\
    Marta dirige el coro.";
const FRENCH: &str = "\
    Notre fournisseur principal est Acme.\n\
    Anne vérifie les factures.\n\
    Le samedi nous fermons à deux heures.\n\
    En été nous travaillons moins.\n\
    Les comptes rendus sont dans Notion.\n\
    L'accès distant exige une clé.\n\
    Beaucoup de clients demandent un reçu.\n\
    Il y a trois salles libres.\n\
    Nous utilisons des tabulations dans le code.\n\
    Nous payons le loyer en janvier.\n\
    Chaque branche demande deux approbations.\n\
    La version minimale est la 12.\n\
    Les données personnelles sont effacées après un an.\n\
    Le serveur de test n'a pas de copie.\n\
    Luc et Eva partagent un bureau.\n\
    Le journal des erreurs grossit vite.\n\
    Le serveur est à Lyon.\n\
    Le chef parle anglais.\n\
    Le client paie en euros.\n\
    Le bureau ouvre à neuf heures.\n\
    Le rapport sort le lundi.\n\
    La base est MySQL.\n\
    Le projet dépend de Redis.\n\
    La cheffe s'appelle Claire.\n\
    Le camion arrive à Nantes.\n\
    Le chat dort à Nice.\n\
    Le stagiaire vient de Lille.\n\
    L'imprimante se trouve à Brest.\n\
    La voiture appartient à Paul.\n\
    La réunion dure une heure.\n\
    Le contrat expire en mars.\n\
    La facture part par courrier.\n\
    Les sauvegardes sont gardées chez OVH.\n\
    Le déploiement prend dix minutes.\n\
    Le mot de passe compte douze lettres.\n\
    La boutique vend du pain.\n\
    La boutique ferme à huit heures.\n\
    L'équipe utilise Slack.\n\
    L'équipe compte six personnes.\n\
    Le serveur tourne sous Debian.\n\
    Le client préfère le téléphone.\n\
    La directrice travaille chez elle.\n\
    Les commandes se paient d'avance.\n\
    Les erreurs arrivent dans Sentry.\n\
    Notre entreprise est née à Dijon.\n\
    Le port de la passerelle est 8443.\n\
    Le domaine appartient à la mairie.\n\
    La caméra filme en couleur.\n\
    Le capteur mesure l'humidité.\n\
    La liste contient vingt noms.\n\
    L'atelier commence le jeudi.\n\
    Le café coûte deux euros.\n\
    Le chien mange du riz.\n\
    L'avocate relit les contrats.\n\
    Le code est dans GitLab.\n\
    Les tests passent sur Jenkins.\n\
    La maquette vient de Figma.\n\
    Le peintre loue un atelier.\n\
    L'ascenseur monte au cinquième étage.\n\
    La piscine mesure vingt mètres.\n\
    Le train part de Rennes.\n\
    La boulangère s'est mariée en mai.\n\
    Le manuel est écrit en anglais.\n\
    Le maire signe les permis.\n\
    La bibliothèque prête des livres.\n\
    Le voisin joue du violon.\n\
    L'application exige Java 17.\n\
    Le module valide les adresses.\n\
    Le cache expire après cinq minutes.\n\
    L'alarme sonne à minuit.\n\
    L'hôtel accepte les chiens.\n\
    La ferme produit du fromage.\n\
    Le musée ouvre le dimanche.\n\
    Le jardinier taille les haies.\n\
    Julie dirige la chorale.\n\
    On utilise Terraform pour le réseau.\n\
    On mange à midi.\n\
    Le pont traverse la Loire.";
const ITALIAN: &str = "\
    Il nostro fornitore principale è Acme.\n\
    Anna controlla le fatture.\n\
    Il sabato chiudiamo alle due.\n\
    D'estate lavoriamo meno.\n\
    I verbali si conservano in Notion.\n\
    L'accesso remoto richiede una chiave.\n\
    Molti clienti chiedono la ricevuta.\n\
    Ci sono tre sale libere.\n\
    Usiamo tabulazioni nel codice.\n\
    Paghiamo l'affitto a gennaio.\n\
    Ogni ramo richiede due approvazioni.\n\
    La versione minima è la 12.\n\
    I dati personali vengono cancellati dopo un anno.\n\
    Il server di prova non ha copia.\n\
    Luca ed Eva condividono l'ufficio.\n\
    Il registro degli errori cresce in fretta.\n\
    Il server è a Milano.\n\
    Il capo parla inglese.\n\
    Il cliente paga in euro.\n\
    Il gatto dorme a Napoli.\n\
    Il camion arriva a Bari.\n\
    La base dati è MySQL.\n\
    Il progetto usa Redis.\n\
    La riunione dura un'ora.\n\
    Il magazzino si trova a Pisa.\n\
    Il direttore vive a Siena.\n\
    La stampante è di Marco.\n\
    Il team usa Slack.\n\
    L'ufficio apre alle nove.\n\
    Il rapporto esce di lunedì.\n\
    La responsabile si chiama Chiara.\n\
    Lo stagista viene da Lecce.\n\
    Il contratto scade a marzo.\n\
    La fattura parte per posta.\n\
    I salvataggi stanno su Azure.\n\
    Il rilascio richiede dieci minuti.\n\
    La password ha dodici lettere.\n\
    Il negozio vende pane.\n\
    Il negozio chiude alle otto.\n\
    Il team conta sei persone.\n\
    Il server esegue Debian.\n\
    Il cliente preferisce il telefono.\n\
    La direttrice lavora da casa.\n\
    Gli ordini si pagano in anticipo.\n\
    Gli errori arrivano in Sentry.\n\
    La nostra azienda è nata a Parma.\n\
    La porta del gateway è 8443.\n\
    Il dominio appartiene al comune.\n\
    La telecamera riprende a colori.\n\
    Il sensore misura l'umidità.\n\
    La lista contiene venti nomi.\n\
    Il corso comincia giovedì.\n\
    Il caffè costa due euro.\n\
    Il cane mangia riso.\n\
    L'avvocata rilegge i contratti.\n\
    Il codice è in GitLab.\n\
    Le prove girano su Jenkins.\n\
    Il disegno viene da Figma.\n\
    Il pittore affitta uno studio.\n\
    L'ascensore sale al quinto piano.\n\
    La piscina misura venti metri.\n\
    Il treno parte da Roma.\n\
    La fornaia si è sposata a maggio.\n\
    Il manuale è scritto in inglese.\n\
    Il sindaco firma i permessi.\n\
    La biblioteca presta libri.\n\
    Il vicino suona il violino.\n\
    L'applicazione richiede Java 17.\n\
    Il modulo controlla gli indirizzi.\n\
    La cache scade dopo cinque minuti.\n\
    L'allarme suona a mezzanotte.\n\
    L'albergo accetta cani.\n\
    La fattoria produce formaggio.\n\
    Il museo apre la domenica.\n\
    Il giardiniere pota le siepi.\n\
    Carla dirige il coro.\n\
    Il ponte attraversa il Po.\n\
    La nave salpa da Genova.";
const PORTUGUESE: &str = "\
    O nosso fornecedor principal é a Acme.\n\
    Ana revê as faturas.\n\
    Ao sábado fechamos às duas.\n\
    No verão trabalhamos menos.\n\
    As atas guardam-se no Notion.\n\
    O acesso remoto exige uma chave.\n\
    Muitos clientes pedem recibo.\n\
    Há três salas livres.\n\
    Usamos tabulações no código.\n\
    Pagamos a renda em janeiro.\n\
    Cada ramo precisa de duas aprovações.\n\
    A versão mínima é a 12.\n\
    Os dados pessoais são apagados após um ano.\n\
    O servidor de testes não tem cópia.\n\
    Luís e Eva partilham o gabinete.\n\
    O registo de erros cresce depressa.\n\
    O servidor está em Lisboa.\n\
    O chefe fala inglês.\n\
    O cliente paga em euros.\n\
    O gato dorme em Faro.\n\
    O caminhão chega a Braga.\n\
    A base de dados é MySQL.\n\
    O projeto usa Redis.\n\
    A reunião dura uma hora.\n\
    O armazém fica no Porto.\n\
    O diretor vive em Coimbra.\n\
    A impressora é do Marco.\n\
    A equipa usa Slack.\n\
    O escritório abre às nove.\n\
    O relatório sai às segundas.\n\
    A responsável chama-se Clara.\n\
    O estagiário vem de Évora.\n\
    O contrato vence em março.\n\
    A fatura segue por correio.\n\
    As cópias ficam no Azure.\n\
    A entrega demora dez minutos.\n\
    A senha tem doze letras.\n\
    A loja vende pão.\n\
    A loja fecha às oito.\n\
    A equipa tem seis pessoas.\n\
    O servidor corre Debian.\n\
    O cliente prefere o telefone.\n\
    A diretora trabalha em casa.\n\
    Os pedidos pagam-se adiantados.\n\
    Os erros chegam ao Sentry.\n\
    A nossa empresa nasceu em Viseu.\n\
    A porta do gateway é 8443.\n\
    O domínio pertence à câmara.\n\
    A câmara filma a cores.\n\
    O sensor mede a humidade.\n\
    A lista contém vinte nomes.\n\
    O curso começa na quinta.\n\
    O café custa dois euros.\n\
    O cão come arroz.\n\
    A advogada revê os contratos.\n\
    O código está no GitLab.\n\
    Os testes correm no Jenkins.\n\
    O desenho vem do Figma.\n\
    O pintor aluga um estúdio.\n\
    O elevador sobe ao quinto andar.\n\
    A piscina mede vinte metros.\n\
    O comboio parte de Aveiro.\n\
    A padeira casou em maio.\n\
    O manual está escrito em inglês.\n\
    O presidente assina as licenças.\n\
    A biblioteca empresta livros.\n\
    O vizinho toca violino.\n\
    A aplicação exige Java 17.\n\
    O módulo valida os endereços.\n\
    A cache expira em cinco minutos.\n\
    O alarme toca à meia-noite.\n\
    O hotel aceita cães.\n\
    A quinta produz queijo.\n\
    O museu abre ao domingo.\n\
    O jardineiro poda as sebes.\n\
    Carla dirige o coro.\n\
    A ponte atravessa o Douro.\n\
    O navio parte de Setúbal.";

#[rstest]
#[case::spanish(SPANISH)]
#[case::french(FRENCH)]
#[case::italian(ITALIAN)]
#[case::portuguese(PORTUGUESE)]
fn no_fact_updates_another_one(#[case] facts: &str) {
    let facts: Vec<(&str, Statement)> = facts.lines().map(|fact| (fact, Statement::of("", fact))).collect();
    assert!(facts.len() > 75);
    let said = |statement, second| DatedStatement { statement, at: at(second) };
    let pairs = facts.iter().flat_map(|newer| facts.iter().map(move |older| (newer, older)));
    let linked = pairs.filter(|(newer, older)| updates(said(&newer.1, 2), said(&older.1, 1)).is_some());
    let linked: Vec<(&str, &str)> = linked.map(|(newer, older)| (older.0, newer.0)).collect();
    assert!(linked.is_empty(), "{linked:?}");
}

#[rstest]
#[case::spanish("El equipo habla inglés.", "El equipo paga en euros.")]
#[case::spanish_subject("El equipo usa Slack.", "El cliente usa Slack.")]
#[case::spanish_verb("El jefe vive en Toledo.", "El jefe trabaja en Toledo.")]
#[case::spanish_being("La impresora es de Marta.", "La impresora es vieja.")]
#[case::french("L'équipe utilise Slack.", "L'équipe dort à Nice.")]
#[case::french_pronoun("On utilise Terraform.", "On mange à midi.")]
#[case::italian("Il capo parla inglese.", "Il capo vive a Siena.")]
#[case::portuguese("O chefe fala inglês.", "O chefe trabalha no Porto.")]
#[case::portuguese_preposition("A equipa usa Slack.", "A equipa usa Slack no Porto.")]
#[case::german("Der Chef spricht Englisch.", "Der Chef wohnt in Mainz.")]
#[case::dutch("De baas spreekt Engels.", "De baas woont in Breda.")]
fn another_verb_or_another_subject_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}

#[rstest]
#[case::spanish("El servidor está en Madrid.", "El servidor está en Valencia.")]
#[case::spanish_day("La reunión semanal es los lunes.", "La reunión semanal es los miércoles.")]
#[case::spanish_amount("La reunión dura dos horas.", "La reunión dura cuatro horas.")]
#[case::french("La base de données est MySQL.", "La base de données est MariaDB.")]
#[case::french_new("La base est MySQL.", "La nouvelle base est MariaDB.")]
#[case::italian("Il server è a Milano.", "Il server è a Roma.")]
#[case::portuguese("O servidor está em Lisboa.", "O servidor está no Porto.")]
#[case::portuguese_amount("O tempo limite é de 5 segundos.", "O tempo limite é de 20 segundos.")]
#[case::german("Die Datenbank ist MySQL.", "Die Datenbank ist MariaDB.")]
fn another_value_of_the_same_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
